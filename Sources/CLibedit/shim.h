#pragma once
#include <histedit.h>
#include <stdio.h>
