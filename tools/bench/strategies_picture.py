def picture(result):
    return ""
