"""The registry protocol of APM (the Agent Package Manager of Microsoft), version 1."""
