"""A home of its own for each test's daemons."""

from tests.support.fixtures import home, ollama, ollama_home

__all__ = ["home", "ollama", "ollama_home"]
