/** The file system as a port: only what the product needs, with the sharp edges named. */
export interface FileFacts {
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly inode: number;
  readonly device: number;
}

export interface Files {
  /** The text, or undefined when there is no such file (or it is a directory). Other failures reject. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file in one step (temporary neighbour, fsync, rename): a reader sees the old text or the new. */
  write(path: string, text: string, options?: { mode?: number }): Promise<void>;
  /** Adds to the end in one write; creates the file (0600 by default) when missing. */
  append(path: string, text: string, options?: { mode?: number }): Promise<void>;
  /** Does not follow a symlink at the end of the path. Undefined when nothing is there. */
  facts(path: string): Promise<FileFacts | undefined>;
  /** Names in a directory, sorted; undefined when it does not exist. */
  list(path: string): Promise<string[] | undefined>;
  /** Makes the directory and its parents; no error when it is there already. */
  makeDir(path: string, options?: { mode?: number }): Promise<void>;
  /** Removes a file or a whole directory; no error when nothing is there. Never follows a symlink. */
  remove(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** The path with all symlinks resolved; rejects with ENOENT when it does not exist. */
  realPath(path: string): Promise<string>;
  /** Free bytes on the volume that holds `path`. */
  freeBytes(path: string): Promise<number>;
}
