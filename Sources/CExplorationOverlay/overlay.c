#include "CExplorationOverlay.h"
