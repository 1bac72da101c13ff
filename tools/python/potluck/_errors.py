"""What can go wrong, as exceptions. Each holds one sentence for a person."""


class Error(Exception):
    """Of everything that Potluck raises."""


class Mistake(Error, ValueError):
    """A wrong argument, setting, shape or order of calls. Nothing changed."""


class NotFinite(Error, FloatingPointError):
    """A gradient or loss is not finite. The batch was left out, and training
    can go on with the next one."""


class Failed(Error, RuntimeError):
    """The peer has ended, or there is no library to use."""


class TooFewExperts(Error, RuntimeError):
    """No expert of a mixture was found, or none answers. It may mend itself:
    hosts come back, or others take their place."""
