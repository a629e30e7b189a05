/** Holds answers of the service against the document that describes them. */
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { buildOpenapi } from '../../src/contract/openapi.ts';

interface Operation {
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Content }>>;
}
type Examples = Readonly<Record<string, { readonly value: { readonly message: string } }>>;
type Content = Readonly<Record<string, { readonly schema: object; readonly examples?: Examples }>>;

const id = 'openapi';
const document = buildOpenapi('0.0.0');
const paths = document.paths as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>;

// The document has members that are not schemas; the lint run checks its schemas.
const ajv = new Ajv({ strict: false, validateSchema: false });
addFormats.default(ajv);
ajv.addSchema(document, id);

/** Templates with fewer parameters come first: `/devices/list` is not `/devices/{deviceId}`. */
const templates = Object.keys(paths)
  .sort((a, b) => a.split('{').length - b.split('{').length)
  .map(path => ({ path, regex: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`) }));

const hasMethod = (path: string, method: string) => paths[path]?.[method.toLowerCase()] !== undefined;

/** The path of the document that a request went to; undefined if there is none. */
export function templateOf(path: string, method: string): string | undefined {
  const [bare = ''] = path.split('?');
  // A path with a name of its own is that one alone, also for the methods that it does not have.
  const meant = paths[bare] ? [{ path: bare }] : templates.filter(({ regex }) => regex.test(bare));
  return meant.find(each => hasMethod(each.path, method))?.path;
}

/** An answer that a test got. */
export interface HeardAnswer {
  readonly method: string;
  /** As in the document. */
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}
/** Called with each answer that is validated. */
export const listeners = new Set<(answer: HeardAnswer) => void>();

/** The example of an error with a code in the document; undefined if there is none. */
export function errorExampleOf({ method, path, status }: HeardAnswer, name: string): { message: string } | undefined {
  const response = paths[path]?.[method.toLowerCase()]?.responses[status];
  const pointer = response?.$ref?.slice(2) ?? `paths/${pointerPart(path)}/${method.toLowerCase()}/responses/${status}`;
  return contentOf(pointer)?.['application/json']?.examples?.[name]?.value;
}

/**
 * The faults of an answer, as texts; empty if it has none.
 * @param path with or without a query
 * @param body the parsed JSON; undefined where the answer has none
 */
export function validateAnswer(method: string, path: string, status: number, body: unknown): string[] {
  const template = templateOf(path, method);
  // No such operation: the one answer that no operation can describe.
  if (!template) return status === 404 ? judge('components/schemas/Error', body) : unknownPath(method, path, status);
  for (const listener of listeners) listener({ method, path: template, status, body });
  const pointer = `paths/${pointerPart(template)}/${method.toLowerCase()}/responses/${status}`;
  const response = paths[template]?.[method.toLowerCase()]?.responses[status];
  if (!response) return [`${method} ${template}: status ${status} is not documented (body ${JSON.stringify(body)})`];
  const place = response.$ref ? response.$ref.slice(2) : pointer;
  const content = contentOf(place);
  if (!content)
    return body === undefined ? [] : [`${method} ${template}: status ${status} is documented without a body`];
  if (!content['application/json']) return [];
  return judge(`${place}/content/application~1json/schema`, body).map(
    fault => `${method} ${template} ${status}: ${fault}`,
  );
}

const unknownPath = (method: string, path: string, status: number) => [
  `${method} ${path} is not documented, but answered ${status}`,
];

function contentOf(pointer: string): Content | undefined {
  const parts = pointer.split('/').map(part => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  let value: unknown = document;
  for (const part of parts) value = (value as Record<string, unknown> | undefined)?.[part];
  return (value as { content?: Content } | undefined)?.content;
}

const pointerPart = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

const compiled = new Map<string, ValidateFunction>();

function judge(pointer: string, body: unknown): string[] {
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `${id}#/${pointer}` });
  compiled.set(pointer, validate);
  if (validate(body)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || 'the answer'} ${message} in ${JSON.stringify(body)}`,
  );
}

interface FrameSchema {
  readonly properties?: { readonly type?: { readonly enum?: readonly string[] } };
}
const schemas = (document.components as unknown as { schemas: Readonly<Record<string, FrameSchema>> }).schemas;

/** The faults of a frame of the notification stream, by the schema of its type. */
export function validateFrame(frame: { readonly type: string }): string[] {
  const name = Object.keys(schemas).find(each => schemas[each]?.properties?.type?.enum?.[0] === frame.type);
  return name ? judge(`components/schemas/${name}`, frame) : [`the frame type ${frame.type} is not documented`];
}
