#ifndef CEXPLORATIONOVERLAY_H
#define CEXPLORATIONOVERLAY_H

// Nothing: what counts is the folder beside this file. `Exploration` exports this module, and where a file of tests
// imports that and `Testing`, the compiler imports `ExplorationTesting` too, as it does Testing's own overlays. So
// tests need one import, and programs that explore without `Testing` do not link it.

#endif
