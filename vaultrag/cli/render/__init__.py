"""Values into what a person reads: texts and rich's renderables. Pure; nothing here is written anywhere."""
