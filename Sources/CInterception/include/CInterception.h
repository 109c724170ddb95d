#ifndef CINTERCEPTION_H
#define CINTERCEPTION_H

// Nothing is called here: what links this target has its calls taken over.

#endif
