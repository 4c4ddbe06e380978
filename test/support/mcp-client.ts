/** The protocol library's own client, talking to `overseer mcp` as a CLI or an editor would. */
import { afterEach } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { OVERSEER } from "./cli.ts";

export interface ToolAnswer {
  readonly text: string;
  readonly refused: boolean;
}

export class ToolClient {
  private constructor(
    private readonly client: Client,
    readonly pid: number,
  ) {}

  static async open(cwd: string, env: Readonly<Record<string, string>>, ...flags: string[]): Promise<ToolClient> {
    const transport = new StdioClientTransport({ command: OVERSEER, args: ["mcp", ...flags], cwd, env: { ...env } });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    return new ToolClient(client, transport.pid ?? 0);
  }

  async names(): Promise<string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }

  get instructions(): string {
    return this.client.getInstructions() ?? "";
  }

  async call(name: string, given: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const { content, isError } = await this.client.callTool({ name, arguments: given });
    const texts = content as readonly { readonly type: string; readonly text?: string }[];
    return { text: texts.map(({ text }) => text ?? "").join("\n"), refused: isError === true };
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** Call it once at the top of a file; what it opens is closed after each test. */
export function closedClients(): typeof ToolClient.open {
  const open: ToolClient[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });
  return async (...given) => {
    const client = await ToolClient.open(...given);
    open.push(client);
    return client;
  };
}
