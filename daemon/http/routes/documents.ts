/** The documents of the interface: Swagger UI, OpenAPI as JSON and YAML, the Postman collection. No token is required. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RouteShape } from '../../../src/contract/define.ts';
import { buildOpenapi } from '../../../src/contract/openapi.ts';
import { buildPostman } from '../../../src/contract/postman.ts';
import { routes } from '../../../src/contract/routes.ts';
import { consolePath } from '../../../src/contract/values.ts';
import { type CarriedFolder, readCarried } from '../../carried-files.ts';
import { pagePolicy, sendPage } from './pages.ts';

/** What the documents contain of the program. */
interface DocumentParts {
  /** Version of the program. */
  readonly version: string;
  /** Whether the daemon serves the console: then `/` leads to it. */
  readonly console: boolean;
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
 * login or a refresh on the page is used for the requests after it. Groups start closed: version 5.35 of Swagger UI stops in the middle of the first group
 * if it has to show more than about 135 operations at once.
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

/** Adds the routes of the documents, and `/`, which leads a browser to the console, else to Swagger UI. Each document is generated once, at its first request. */
export function documents(app: FastifyInstance, { version, console }: DocumentParts): void {
  const openapi = once(() => JSON.stringify(buildOpenapi(version)));
  const yaml = once(async () =>
    (await import('yaml')).stringify(JSON.parse(await openapi()), { aliasDuplicateObjects: false }),
  );
  serve(app, routes.getSwaggerPage, 'text/html; charset=utf-8', async () => page, pagePolicy);
  serve(app, routes.getOpenapiJson, 'application/json; charset=utf-8', openapi);
  serve(app, routes.getOpenapiYaml, 'application/yaml; charset=utf-8', yaml);
  serve(app, routes.getPostmanCollection, 'application/json; charset=utf-8', async request =>
    JSON.stringify(buildPostman(version, ownAddress(request))),
  );
  app.get('/', (request, reply) => {
    reply.header('vary', 'accept');
    // Only browsers ask for HTML. For other clients the operation does not exist.
    if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) return reply.callNotFound();
    return reply.redirect(console ? consolePath : routes.getSwaggerPage.path);
  });
  app.get<{ Params: { name: string } }>('/api/swagger-ui/:name', async (request, reply) => {
    const { name } = request.params;
    if (name === 'initializer.js') return sendPage(request, reply, 'text/javascript; charset=utf-8', initializer);
    if (!isAsset(name)) return reply.callNotFound();
    const { content } = await readAsset(name);
    return sendPage(request, reply, assetTypes[name], content);
  });
}

const isAsset = (name: string): name is AssetName => Object.hasOwn(assetTypes, name);

function serve(
  app: FastifyInstance,
  operation: RouteShape,
  type: string,
  generate: (request: FastifyRequest) => Promise<string>,
  policy = "default-src 'none'; frame-ancestors 'none'",
): void {
  app.get(operation.path, { config: { operation } }, async (request, reply) => {
    reply.header('content-security-policy', policy);
    return sendPage(request, reply, type, await generate(request));
  });
}

/** The address that the collection was fetched from; undefined if the header Host is not just a name and a port. */
function ownAddress({ protocol, host }: FastifyRequest): string | undefined {
  return /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(host) ? `${protocol}://${host}` : undefined;
}

/** The documents do not change while the program runs. */
function once(generate: () => string | Promise<string>): () => Promise<string> {
  let document: Promise<string> | undefined;
  return () => {
    document ??= Promise.resolve(generate());
    return document;
  };
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

/** A file of Swagger UI. */
interface Asset {
  readonly content: Buffer;
  /** Version of the package; the content changes only with it. */
  readonly version: string;
}

/** For the sources, the package itself. */
const folder: CarriedFolder = {
  name: 'swagger-ui',
  places: ['swagger-ui', 'node_modules/swagger-ui-dist'],
  holds: 'package.json',
  contents: 'Swagger UI',
};

/** Rejects if this copy of the program has no Swagger UI. */
async function readAsset(name: AssetName): Promise<Asset> {
  const { version } = JSON.parse((await readCarried(folder, 'package.json')).toString()) as { version: string };
  return { content: await readCarried(folder, name), version };
}
