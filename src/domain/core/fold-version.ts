/**
 * Which fold the tables were made by. A file of its own, because whoever opens a database has to know it, and most of
 * them only read: the fold itself, with every noun it knows, is loaded by whoever writes.
 */

/** Raised when the same log would fold into other tables; a store that finds an older number rebuilds itself. */
export const FOLD_VERSION = 7;

/**
 * The oldest fold whose programs may still write beside this one: what they fold lacks nothing but fields that readers
 * do without. Runners that an older version started are among them, until their agents are done.
 */
export const OLDEST_FOLD = 5;
