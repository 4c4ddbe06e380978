/**
 * An OTLP/HTTP receiver as a collector is one: it takes what is posted to /v1/traces and /v1/metrics, as JSON, and refuses
 * what is not in the shape of the protocol. It can also hang, be away, or answer nonsense.
 */

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  /** Milliseconds. */
  readonly startAt: number;
  readonly endAt: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly { readonly attributes: Readonly<Record<string, unknown>>; readonly value: number }[];
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly Value[] };
}

interface Pair {
  readonly key: string;
  readonly value: Value;
}

interface Point {
  readonly attributes: readonly Pair[];
  readonly asDouble?: number;
  readonly asInt?: number | string;
  readonly sum?: number;
}

interface Body {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, "attributes"> & {
        readonly attributes: readonly Pair[];
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
      })[];
    }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly unit: string;
        readonly sum?: { readonly dataPoints: readonly Point[] };
        readonly gauge?: { readonly dataPoints: readonly Point[] };
        readonly histogram?: { readonly dataPoints: readonly Point[] };
      }[];
    }[];
  }[];
}

/** How it answers: as it should, never, without an end, from elsewhere, with a refusal, or with what is no answer. */
export type Manner = "takes" | "hangs" | "drips" | "moved" | "refuses" | "garbage";

const DRIP_MS = 20;

export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly resources: Readonly<Record<string, unknown>>[] = [];
  /** As they were last told, by name. */
  readonly metrics = new Map<string, ReceivedMetric>();
  readonly bodies: string[] = [];
  manner: Manner = "takes";
  requests = 0;
  private readonly server: ReturnType<typeof Bun.serve>;

  /** At the port that is given, where another one was before. */
  constructor(port = 0) {
    this.server = Bun.serve({
      hostname: "127.0.0.1",
      port,
      idleTimeout: 60,
      fetch: (request) => this.answer(request),
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`;
  }

  async end(): Promise<void> {
    await this.server.stop(true);
  }

  private async answer(request: Request): Promise<Response> {
    this.requests += 1;
    const text = await request.text();
    if (this.manner === "hangs") return new Promise<Response>(() => undefined);
    if (this.manner === "drips") return new Response(drip());
    if (this.manner === "moved") return new Response(null, { status: 302, headers: { location: "/login" } });
    if (this.manner === "refuses") return new Response("no such tenant", { status: 403 });
    if (this.manner === "garbage") return new Response("<html>\u0000 not a collector", { status: 200 });
    const { pathname } = new URL(request.url);
    const isJson = request.headers.get("content-type") === "application/json";
    if (request.method !== "POST" || !isJson || !["/v1/traces", "/v1/metrics"].includes(pathname)) {
      return new Response("what is this?", { status: 400 });
    }
    this.bodies.push(text);
    this.take(JSON.parse(text) as Body);
    return Response.json({});
  }

  private take({ resourceSpans = [], resourceMetrics = [] }: Body): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resources.push(attributesOf(resource.attributes));
      for (const { attributes, startTimeUnixNano, endTimeUnixNano, ...rest } of scopeSpans.flatMap(
        ({ spans }) => spans,
      )) {
        const [startAt, endAt] = [
          Number(BigInt(startTimeUnixNano) / 1_000_000n),
          Number(BigInt(endTimeUnixNano) / 1_000_000n),
        ];
        this.spans.push({ ...rest, startAt, endAt, attributes: attributesOf(attributes) });
      }
    }
    for (const { scopeMetrics } of resourceMetrics) {
      for (const { name, unit, ...kinds } of scopeMetrics.flatMap(({ metrics }) => metrics)) {
        const { dataPoints } = kinds.sum ?? kinds.gauge ?? kinds.histogram ?? { dataPoints: [] };
        const points = dataPoints.map((point) => ({
          attributes: attributesOf(point.attributes),
          value: Number(point.sum ?? point.asDouble ?? point.asInt),
        }));
        this.metrics.set(name, { name, unit, points });
      }
    }
  }
}

async function* drip(): AsyncGenerator<string> {
  for (;;) {
    yield " ";
    await Bun.sleep(DRIP_MS);
  }
}

function attributesOf(pairs: readonly Pair[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(value: Value): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(plainValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
