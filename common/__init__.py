"""What supervisor and workers share: contracts, names, settings, broker and store."""
