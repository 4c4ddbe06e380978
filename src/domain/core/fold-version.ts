/**
 * Which fold the tables were made by. A file of its own, because whoever opens a database has to know it, and most of
 * them only read: the fold itself, with every noun it knows, is loaded by whoever writes.
 */

/** Raised when the same log would fold into other tables; a store that finds an older number rebuilds itself. */
export const FOLD_VERSION = 6;
