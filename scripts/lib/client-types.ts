/** The types of the client package, from the OpenAPI document: each named schema, and what each operation takes and gives. */
import type { RouteShape } from '../../src/contract/define.ts';
import { buildOpenapi } from '../../src/contract/openapi.ts';
import { routes } from '../../src/contract/routes.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly (string | number | null)[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}
interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}
interface Described {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, { schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>>;
  readonly description: string;
}

/** The text of `operations.d.ts`. */
export function clientTypes(): string {
  const document = JSON.parse(JSON.stringify(buildOpenapi('')));
  const schemas = Object.entries<Schema>(document.components.schemas).filter(([name]) => !hidden.includes(name));
  const shapes: readonly RouteShape[] = Object.values(routes);
  const described = ({ path, method }: RouteShape): Described => document.paths[path][method.toLowerCase()];
  const members = (chosen: readonly RouteShape[], text: (operation: Described) => string) =>
    chosen.map(shape => `${comment(shape.summary)}  readonly ${shape.id}: ${text(described(shape))};\n`).join('');
  const calls = shapes.filter(({ data, file, websocket }) => data && !file && !websocket);
  return [
    '// Made from the OpenAPI document of the registry.\n',
    ...schemas.map(([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)};\n`),
    "/** A type of event. */\nexport type EventType = Notification['type'];\n",
    `/** What each operation takes and gives. */\nexport interface Operations {\n${members(calls, one => `{ readonly input: ${inputOf(one)}; readonly data: ${dataOf(one)} }`)}}\n`,
    `/** What each operation takes whose response is a file or a document. */\nexport interface Downloads {\n${members(
      shapes.filter(({ raw }) => raw),
      inputOf,
    )}}\n`,
  ].join('\n');
}

/** Parts of the envelope, which the client opens. */
const hidden = ['Envelope', 'Error', 'Page'];

const comment = (text: string | undefined) => (text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '');

function inputOf({ parameters = [], requestBody }: Described): string {
  const group = (place: Parameter['in'], optional: boolean) => {
    const found = parameters.filter(each => each.in === place);
    if (found.length === 0) return [];
    const fields = found.map(each => field(each.name, each.required, { ...each.schema, ...wordsOf(each) }, true));
    return [`readonly ${place === 'path' ? 'params' : place}${optional ? '?' : ''}: { ${fields.join(' ')} }`];
  };
  const body = requestBody?.content['application/json'];
  return object([
    ...group('path', false),
    ...group('query', true),
    ...(body ? [`readonly body${requestBody!.required ? '' : '?'}: ${typeOf(body.schema)}`] : []),
  ]);
}

const wordsOf = ({ description }: Parameter) => (description ? { description } : {});
const object = (members: readonly string[]) => (members.length > 0 ? `{ ${members.join('; ')} }` : '{}');

/** `data` of the envelope. */
function dataOf({ responses }: Described): string {
  const envelope = responses[200]?.content?.['application/json']?.schema.allOf?.[1];
  return typeOf(envelope?.properties?.data ?? {});
}

function field(name: string, isRequired: boolean, schema: Schema, isQuery = false): string {
  const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
  const isTime = isQuery && schema.format === 'date-time';
  return `${comment(schema.description)}readonly ${key}${isRequired ? '' : '?'}: ${typeOf(schema)}${isTime ? ' | Date' : ''};`;
}

function typeOf(schema: Schema): string {
  const { $ref, nullable, allOf, anyOf, oneOf } = schema;
  // A page has its items in the second part.
  if ($ref?.endsWith('/Page')) return '{ readonly pagination: Pagination }';
  if ($ref) return $ref.split('/').at(-1)!;
  if (allOf) return allOf.map(part => `(${typeOf(part)})`).join(' & ');
  const options = anyOf ?? oneOf;
  if (options) return [...new Set(options.map(typeOf))].map(one => `(${one})`).join(' | ');
  const text = schema.enum ? schema.enum.map(value => JSON.stringify(value)).join(' | ') : plain(schema);
  return nullable && !schema.enum?.includes(null) ? `${text} | null` : text;
}

function plain({ type, items, properties, required = [], additionalProperties: others }: Schema): string {
  switch (type) {
    case 'array':
      return `readonly (${typeOf(items ?? {})})[]`;
    case 'object': {
      const fields = Object.entries(properties ?? {}).map(([name, schema]) =>
        field(name, required.includes(name), schema),
      );
      const rest = others && typeof others === 'object' ? typeOf(others) : 'unknown';
      if (fields.length === 0) return `Readonly<Record<string, ${others === false ? 'never' : rest}>>`;
      return `{ ${fields.join(' ')}${others ? ` readonly [name: string]: unknown;` : ''} }`;
    }
    case 'integer':
    case 'number':
      return 'number';
    case undefined:
      return 'unknown';
    default:
      return type;
  }
}
