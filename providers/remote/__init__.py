"""What adapters of remote services share: requests and replies, errors, manners, splitting, mapping of hits."""
