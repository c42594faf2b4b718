"""The search screen in the terminal: search as you type, a preview, and the note opens in the editor."""
