"""What agents did: files, commands, commits, branches. Derived from events, and needs no language
to be understood; it can be thrown away and made again at any time."""
