/** Where this process stands; undefined when that directory was removed meanwhile. */
export function findWorkingDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

export const DIRECTORY_GONE = {
  kind: "environment",
  code: "DIRECTORY_GONE",
  message: "The directory this was run in no longer exists.",
  hint: "Go to one that does ('cd'), and run it again.",
} as const;
