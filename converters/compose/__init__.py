"""Haystacks of any length: filler sessions around each question's evidence."""
