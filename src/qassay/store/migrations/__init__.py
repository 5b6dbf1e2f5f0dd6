"""How the tables of the store came to be, one file a version; run through `qassay.store.engine`."""
