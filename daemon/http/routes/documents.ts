/** The documents of the interface: Swagger UI, OpenAPI as JSON and YAML, the Postman collection. No token is required. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RouteShape } from '../../../src/contract/define.ts';
import { buildOpenapi } from '../../../src/contract/openapi.ts';
import { buildPostman } from '../../../src/contract/postman.ts';
import { routes } from '../../../src/contract/routes.ts';
import { consolePath } from '../../../src/contract/values.ts';
import type { CarriedFolder } from '../../base/carried-files.ts';
import { cooperatively } from '../../base/concurrency.ts';
import { clientOf } from '../../base/loopback.ts';
import { RateLimited, type RequestLimits } from '../../requests/limiter.ts';
import { setRateLimitHeaders } from '../responses.ts';
import { checkQuery } from '../strict-query.ts';
import { type Page, pageOf, pageOfFile, pagePolicy, sendPage } from './pages.ts';

/** Facts about the program in the documents. */
interface DocumentParts {
  /** Version of the program. */
  readonly version: string;
  /** Whether the daemon serves the console: then `/` leads to it. */
  readonly console: boolean;
  /** Counts requests of documents for each address. */
  readonly limiter: Pick<RequestLimits, 'countHere'>;
}

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>devmgr interface</title>
    <link rel="stylesheet" href="swagger-ui/swagger-ui.css">
    <link rel="icon" type="image/png" href="swagger-ui/favicon-32x32.png" sizes="32x32">
    <link rel="icon" type="image/png" href="swagger-ui/favicon-16x16.png" sizes="16x16">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="swagger-ui/swagger-ui-bundle.js"></script>
    <script src="swagger-ui/initializer.js"></script>
  </body>
</html>
`;

/**
 * A separate file because the policy allows no inline script. The validator would be a service on the internet. The token of a
 * login or a refresh on the page is used for the requests after it. Groups start closed: version 5.35 of Swagger UI stops in the
 * middle of the first group if it has to show more than about 135 operations at once.
 */
const initializer = `const tokenPaths = ${JSON.stringify([routes.login.path, routes.refreshToken.path])};
function useToken(response) {
  const token = response.obj?.data?.token;
  if (typeof token === 'string' && tokenPaths.includes(new URL(response.url, location.href).pathname))
    window.ui.preauthorizeApiKey('bearerAuth', token);
  return response;
}
window.ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: 'none',
  responseInterceptor: useToken,
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
});
`;

/** Origins for which the Postman collection is kept: the client chooses the header Host. */
const ORIGINS = 16;

/** Adds the routes of the documents, and `/`, which leads to the console, else to Swagger UI. Documents are generated once. */
export function documents(app: FastifyInstance, { version, console, limiter }: DocumentParts): void {
  const kept = new KeptDocuments(ORIGINS);
  const openapi = () => JSON.stringify(buildOpenapi(version));
  const yaml = async () => cooperatively(yamlOf(JSON.parse(openapi()), (await import('yaml')).stringify));
  const serve = (
    operation: RouteShape,
    type: string,
    find: (request: FastifyRequest) => Promise<Page>,
    policy?: string,
  ) =>
    serveDocument(app, {
      operation,
      type,
      find,
      limiter,
      policy: policy ?? "default-src 'none'; frame-ancestors 'none'",
    });
  serve(routes.getSwaggerPage, 'text/html; charset=utf-8', () => kept.page('page', () => page), pagePolicy);
  serve(routes.getOpenapiJson, 'application/json; charset=utf-8', () => kept.page('json', openapi));
  serve(routes.getOpenapiYaml, 'application/yaml; charset=utf-8', () => kept.page('yaml', yaml));
  serve(routes.getPostmanCollection, 'application/json; charset=utf-8', request => {
    const origin = ownAddress(request);
    return kept.pageFor(origin, () => JSON.stringify(buildPostman(version, origin)));
  });
  app.get('/', (request, reply) => {
    reply.header('vary', 'accept');
    // Only browsers ask for HTML. For other clients the operation does not exist.
    if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) return reply.callNotFound();
    return reply.redirect(console ? consolePath : routes.getSwaggerPage.path);
  });
  const script = pageOf(initializer);
  app.get<{ Params: { name: string } }>('/api/swagger-ui/:name', async (request, reply) => {
    const { name } = request.params;
    if (name === 'initializer.js') return sendPage(request, reply, 'text/javascript; charset=utf-8', script);
    if (!isAsset(name)) return reply.callNotFound();
    return sendPage(request, reply, assetTypes[name], await pageOfFile(folder, name));
  });
}

const isAsset = (name: string): name is AssetName => Object.hasOwn(assetTypes, name);

/** Characters of JSON that become YAML in one step: a few milliseconds. */
const YAML_STEP = 20_000;

/** An object as YAML, in steps: the whole document takes 300 ms. */
function* yamlOf(value: object, stringify: (value: object, options: object) => string): Generator<void, string> {
  const parts: string[] = [];
  for (const [name, member] of Object.entries(value) as [string, object][]) {
    const isLong = !Array.isArray(member) && JSON.stringify(member).length > YAML_STEP;
    const text = isLong
      ? `${name}:\n${indented(yield* yamlOf(member, stringify))}`
      : stringify({ [name]: member }, { aliasDuplicateObjects: false });
    parts.push(text);
    yield;
  }
  return parts.join('');
}

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

/** How a document is served. */
interface ServedDocument {
  readonly operation: RouteShape;
  readonly type: string;
  readonly find: (request: FastifyRequest) => Promise<Page>;
  readonly policy: string;
  readonly limiter: Pick<RequestLimits, 'countHere'>;
}

function serveDocument(app: FastifyInstance, { operation, type, find, policy, limiter }: ServedDocument): void {
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const allowance = limiter.countHere('document', clientOf(request.ip));
    if (allowance) setRateLimitHeaders(reply, allowance);
    if (allowance?.allowed === false) throw new RateLimited(allowance);
  };
  app.get(operation.path, { config: { operation }, onRequest, exposeHeadRoute: true }, async (request, reply) => {
    reply.header('content-security-policy', policy);
    checkQuery(operation, request, reply);
    return sendPage(request, reply, type, await find(request));
  });
}

/** The address that the collection was fetched from; undefined if the header Host is not just a name and a port. */
function ownAddress({ protocol, host }: FastifyRequest): string | undefined {
  return /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(host) ? `${protocol}://${host}` : undefined;
}

/** Documents that were made. They do not change while the program runs. */
class KeptDocuments {
  readonly #pages = new Map<string, Promise<Page>>();
  readonly #most: number;
  /** Pages by origin, the one that was used last at the end. */
  readonly #byOrigin = new Map<string | undefined, Promise<Page>>();

  /** `most`: of how many origins pages are kept. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The page of this name. */
  page(name: string, make: () => string | Promise<string>): Promise<Page> {
    const known = this.#pages.get(name) ?? Promise.resolve(make()).then(pageOf);
    this.#pages.set(name, known);
    return known;
  }

  /** The page for an origin. */
  pageFor(origin: string | undefined, make: () => string): Promise<Page> {
    const known = this.#byOrigin.get(origin) ?? Promise.resolve(pageOf(make()));
    this.#byOrigin.delete(origin);
    this.#byOrigin.set(origin, known);
    if (this.#byOrigin.size > this.#most) this.#byOrigin.delete(this.#byOrigin.keys().next().value);
    return known;
  }
}

/** The files that the page uses, and their media types. */
const assetTypes = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
  'favicon-16x16.png': 'image/png',
} as const;
/** Name of one of these files. */
type AssetName = keyof typeof assetTypes;

/** For the sources, the package itself. */
const folder: CarriedFolder = {
  name: 'swagger-ui',
  places: ['swagger-ui', 'node_modules/swagger-ui-dist'],
  holds: 'package.json',
  contents: 'Swagger UI',
};
