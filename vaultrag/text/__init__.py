"""Normalisation with offsets, tokeniser, stop words, sentences, token estimate. Pure; knows nothing of Markdown."""
