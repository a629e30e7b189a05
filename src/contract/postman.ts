/**
 * The interface as a Postman 2.1 collection. Its requests can be run in order on any service, any number of times: each run
 * creates devices, users and packages with new names.
 */
import { acceptsKey, type RouteShape } from './define.ts';
import type { RouteName } from './endpoints.ts';
import { givenParameter, inputExample, suggested } from './openapi/examples.ts';
import type { JsonObject } from './openapi/schemas.ts';
import { type Step, steps } from './postman-steps.ts';
import { routes } from './routes.ts';

const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
const description = `Set \`password\`, then send the requests in order or run the collection.
Login stores the token, and registration stores the deviceId and the activation code for the requests that follow.
Requests with a file send a small sample. To send your own file, change the body type to form-data.`;

/**
 * Builds the collection.
 * @param version version of the program
 * @param baseUrl initial value of the variable `base_url`, without a trailing slash
 */
export function buildPostman(version: string, baseUrl = 'http://127.0.0.1:7470'): JsonObject {
  const variables = {
    base_url: baseUrl,
    username: 'admin',
    password: '',
    keyId: 'none',
    identityId: 'none',
    credentialId: 'none',
    passkeyId: 'none',
    deliveryId: 'none',
    userName: 'none',
  };
  const saved = ['token', 'run', 'build', ...Object.values(steps).flatMap(savedNames)];
  const names = [...new Set(saved)].map(key => ({ key, value: '', type: 'string' }));
  return {
    info: { name: `Device Management and Access Service (devmgr ${version})`, description, schema },
    auth: bearer('token'),
    variable: [...Object.entries(variables).map(([key, value]) => ({ key, value, type: 'string' })), ...names],
    item: folders(),
  };
}

const savedNames = ({ save, saveAll }: Step): string[] => [...Object.keys(save ?? {}), ...(saveAll ? [saveAll] : [])];

/** Authentication with the token in a variable. */
const bearer = (variable: string): JsonObject => ({
  type: 'bearer',
  bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }],
});

/** A folder for each tag, and a last one for what ends the things that the others use. */
function folders(): JsonObject[] {
  const found = new Map<string, JsonObject[]>();
  for (const [name, step] of Object.entries(steps)) {
    const shape: RouteShape = routes[name as RouteName];
    const folder = step.atEnd ? 'Clean up' : shape.tag;
    found.set(folder, [...(found.get(folder) ?? []), request(shape, step)]);
  }
  return [...found].map(([name, item]) => ({ name, item }));
}

function request(shape: RouteShape, step: Step): JsonObject {
  const body = step.file ? multipart(step.file, step.send ?? {}) : jsonBody(shape, step);
  const words = [shape.description, shape.extension ? 'An addition to the published interface.' : undefined];
  return {
    name: shape.summary,
    event: [...(shape.id === 'login' ? [script('prerequest', runNames)] : []), script('test', checks(shape, step))],
    request: {
      method: shape.method,
      description: words.filter(Boolean).join('\n\n'),
      ...(typeof shape.access === 'string'
        ? { auth: { type: 'noauth' } }
        : step.asProgram
          ? { auth: bearer('serviceToken') }
          : {}),
      header: [
        { key: 'Accept', value: shape.raw?.contentType ?? 'application/json' },
        // A new one each time the request is sent.
        ...(acceptsKey(shape) ? [{ key: 'Idempotency-Key', value: '{{$guid}}' }] : []),
        ...(body?.header ?? []),
      ],
      url: url(shape, step),
      ...(body ? { body: body.body } : {}),
    },
    response: [],
  };
}

interface Body {
  readonly header: JsonObject[];
  readonly body: JsonObject;
}

function jsonBody(shape: RouteShape, step: Step): Body | null {
  if (!shape.body) return null;
  const raw = step.sendSaved ? `{{${step.sendSaved}}}` : JSON.stringify(step.send ?? inputExample(shape), null, 2);
  return {
    header: [{ key: 'Content-Type', value: 'application/json' }],
    body: { mode: 'raw', raw, options: { raw: { language: 'json' } } },
  };
}

const boundary = 'devmgr-sample';

/** Raw bytes, because a Postman form refers to a file on the disk of the person who runs it. */
function multipart(file: { name: string; content: string }, fields: JsonObject): Body {
  const part = (head: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
  const parts = Object.entries(fields).map(([name, value]) => part(`name="${name}"`, String(value)));
  const filePart = part(`name="file"; filename="${file.name}"\r\nContent-Type: application/octet-stream`, file.content);
  return {
    header: [{ key: 'Content-Type', value: `multipart/form-data; boundary=${boundary}` }],
    body: { mode: 'raw', raw: `${parts.join('')}${filePart}--${boundary}--\r\n` },
  };
}

function url(shape: RouteShape, step: Step): JsonObject {
  const path = shape.path.replace(/\{(\w+)\}/g, '{{$1}}');
  const query = queryOf(shape, step);
  const search = query.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`);
  return {
    raw: `{{base_url}}${path}${search.length ? `?${search.join('&')}` : ''}`,
    host: ['{{base_url}}'],
    path: path.slice(1).split('/'),
    ...(query.length ? { query } : {}),
  };
}

/** Optional parameters are listed but disabled. */
function queryOf(shape: RouteShape, step: Step): JsonObject[] {
  return Object.entries(shape.query?.properties ?? {}).map(([key, field]) => {
    const sent = step.query?.[key] ?? givenParameter(shape, key);
    const value = String(sent ?? suggested(field) ?? '');
    const description = (field as { description?: string }).description ?? '';
    return { key, value, description, ...(sent === undefined ? { disabled: true } : {}) };
  });
}

const script = (listen: 'prerequest' | 'test', exec: readonly string[]): JsonObject => ({
  listen,
  script: { type: 'text/javascript', exec },
});

/** Serial numbers, user names and versions are unique in a service, so each run has new ones. */
const runNames = [
  'const now = Date.now();',
  "pm.collectionVariables.set('run', String(now));",
  "pm.collectionVariables.set('build', String(now % 1e9));",
];

function checks(shape: RouteShape, { save, saveAll, missing, takesKey }: Step): string[] {
  if (takesKey)
    return ["pm.test('the answer is an envelope', () => pm.expect(pm.response.json().code).to.be.a('number'));"];
  const [http, code] = missing ? [404, 404] : [200, 200];
  const saved = [
    ...Object.entries(save ?? {}).map(([name, field]) => `save('${name}', envelope.data.${field});`),
    ...(saveAll ? [`save('${saveAll}', JSON.stringify(envelope.data));`] : []),
  ].map(line => `if (envelope.data) ${line}`);
  const envelope = [
    'const envelope = pm.response.json();',
    `pm.test('the envelope has code ${code}', () => pm.expect(envelope.code).to.equal(${code}));`,
    ...(saved.length ? [...saveFunction, ...saved] : []),
  ];
  return [
    `pm.test('HTTP status is ${http}', () => pm.response.to.have.status(${http}));`,
    ...(shape.raw ? [] : envelope),
  ];
}

/** A variable of the environment hides that of the collection, so it is set too if it exists. */
const saveFunction = [
  'function save(name, value) {',
  '  pm.collectionVariables.set(name, value);',
  '  if (pm.environment.has(name)) pm.environment.set(name, value);',
  '}',
];
