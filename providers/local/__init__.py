"""The embedded memory system: lexical and dense search over a store that is Parquet."""
