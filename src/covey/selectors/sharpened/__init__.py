"""Sharpened: representatives moved to where they separate classes."""
