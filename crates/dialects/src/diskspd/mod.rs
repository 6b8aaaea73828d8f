//! DiskSpd.
