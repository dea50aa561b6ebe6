"""How a compilation is looked at: pages and cards of HTML, and what stages take.

Nothing here knows the compiler: `driver/shown.py` says what stands on a page.
"""
