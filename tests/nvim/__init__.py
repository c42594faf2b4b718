"""The Neovim client's own tests, in each Neovim that is here, against a real daemon."""
