"""Core to loops: arrays become buffers in regions, cells slots and buffers added to.

Earlier stages guarantee that there are no products, functions or calls.
"""
