"""Code that operators' commands share: keys, the lock of the data folder, copies before migrations."""
