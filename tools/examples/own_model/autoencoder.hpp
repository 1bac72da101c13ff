#pragma once

#include "models/model_kind.hpp"

potluck::model_kind autoencoder_kind();
