"""The index of a series: what all its periods say together, made from their public folders alone.

    published   DIR/*/public as arrays               censored   numbers that are missing below three noise_sd
    trends      what rises, falls and bursts         long       one table of all periods: Parquet and CSV
    feed        what is new, as Atom                 rows       the numbers as the page's script reads them
    index       DIR/public, written after each period    further    clicks, transitions and keywords beside the queries

Nothing here sees a log or the owner's state, so that it costs nothing: it is post-processing of what is out.
"""
