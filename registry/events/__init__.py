"""What happens elsewhere, told to skills that declare it: received, matched, started or proposed."""
