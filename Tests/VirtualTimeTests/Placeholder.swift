// Tests of VirtualTime.
