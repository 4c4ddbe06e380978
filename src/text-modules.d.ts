/** Prompts, starter files and SQL steps are imported as text (`with { type: "text" }`), so that bundle and binary carry them. */
declare module "*.md" {
  const text: string;
  export default text;
}
declare module "*.sql" {
  const text: string;
  export default text;
}
