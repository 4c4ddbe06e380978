/**
 * The two things the loaders of this room need from a file system. The real one (sys/files) fits as it is, and a map
 * of texts does for tests; the room itself never opens a file.
 */
export interface ReadDir {
  /** The text, or undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
  /** Names in a directory, sorted; undefined when it does not exist. */
  list(path: string): Promise<readonly string[] | undefined>;
}
