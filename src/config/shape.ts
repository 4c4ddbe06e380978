/** Of the schema of the configuration, so that a checked copy of another version is recognised. Made by scripts/docs.ts. */
export const CONFIG_SHAPE = "2imps15vugbb4";
