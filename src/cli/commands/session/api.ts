/** Any operation of the interface, named by method and path or by its operationId. */
import { endpoints, type RouteName } from '../../../contract/endpoints.ts';
import { isObject, objectIn } from '../../../contract/json-object.ts';
import { isSecretName } from '../../../tables/secrets.ts';
import type { Client } from '../../client/client.ts';
import type { AnyInput } from '../../client/exchange.ts';
import { itemsOf } from '../../client/pages.ts';
import { paramsOf } from '../../client/paths.ts';
import { tryOr, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { inputText } from '../../jobs/input-file.ts';
import { harmless } from '../../terminal/text.ts';

/** Bytes of a body; the daemon takes no more. */
const mostBody = 16 * 1024 * 1024;
const hint = 'the operations: devmgr api getOpenapiJson, or the page /api/swagger-ui.html of the server';

/** `GET /api/devices/DEV-1`, with the login, the certificates and the retries of all commands. */
export const api = command({
  description:
    'Sends a request to PATH and writes the data of the response as JSON. A document is written whole: --jq applies to one in JSON, and other text is written unchanged. Without METHOD, it sends a GET, or a POST if there is --field or --body and the path has no GET. Instead of METHOD and PATH, you can give the operationId of an operation, with its path parameters as fields.\n--field adds a parameter to the query of a GET, else a member of the body. true, false, null and numbers are sent as such values; "NAME=\'7\'" sends a text.\nPass secrets in the body on standard input (--body -): other users can see arguments.',
  args: [
    { name: 'METHOD', help: 'GET, POST or PUT; or the path, or the name of an operation' },
    { name: 'PATH', help: 'path, such as /api/devices/DEV-1', optional: true },
  ],
  flags: {
    field: {
      value: 'NAME=VALUE',
      help: 'a parameter of the query, or a member of the body',
      many: 'whole',
    },
    body: { value: 'FILE', help: 'body of the request as JSON; - is standard input', conflicts: ['field'] },
    paginate: { help: 'all pages of a list, one item on each line' },
  },
  examples: {
    'one device': 'api /api/devices/DEV-1',
    'all locked devices, one id on each line': 'api /api/devices/list --field status=LOCKED --paginate --jq .deviceId',
    'a change': 'api POST /api/devices/DEV-1/lock --field reason=lost',
    'a body from a file': 'api setPeoplePolicy --body policy.json',
  },
  async run({ args, flags }, context) {
    const fields = (flags.field ?? []).map(fieldOf);
    const hasBody = fields.length > 0 || flags.body !== undefined;
    const { operation, params, query, rest } = called(args, fields, hasBody);
    const isRead = endpoints[operation].method === 'GET';
    if (operation === 'streamNotifications') throw usage(`${operation} is a WebSocket`, 'devmgr watch --json');
    if (isRead && flags.body !== undefined) throw usage('a GET has no body: use --field', hint);
    const body = flags.body === undefined ? Object.fromEntries(rest) : await bodyIn(context, flags.body);
    const input: AnyInput = {
      params,
      query: isRead ? { ...query, ...grouped(rest) } : query,
      ...(isRead || !hasBody ? {} : { body }),
    };
    const { out } = context;
    // Attached keys are those of the hardware service, which is another daemon if the registry is elsewhere.
    const server = endpoints[operation].path.startsWith('/api/hardware/') ? context.hardware : context.registry;
    if (flags.paginate) {
      if (!(endpoints[operation].returns as readonly string[]).includes('pagination'))
        throw usage(`${operation} has no pages`, 'omit --paginate');
      for await (const item of itemsOf(server, operation as 'listDevices', input as object)) await out.row(item);
      return;
    }
    if ('withoutEnvelope' in endpoints[operation]) return writeFile(context, server, operation, input);
    const { data } = await server.send({ operation, input: input as never });
    await out.document(data ?? null);
  },
});

type Fields = readonly (readonly [name: string, value: unknown])[];

interface Called {
  readonly operation: RouteName;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Fields other than path parameters. */
  readonly rest: Fields;
}

function called(args: readonly string[], fields: Fields, hasBody: boolean): Called {
  const [first = '', second] = args;
  if (second === undefined && Object.hasOwn(endpoints, first)) {
    const operation = first as RouteName;
    const names = [...endpoints[operation].path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    const missing = names.filter(name => !fields.some(([field]) => field === name));
    if (missing.length > 0) throw usage(`${operation} needs --field ${missing[0]}=VALUE`, endpoints[operation].path);
    const isParam = ([name]: Fields[number]) => names.includes(name);
    const params = Object.fromEntries(fields.filter(isParam).map(([name, value]) => [name, String(value)]));
    return { operation, params, query: {}, rest: fields.filter(field => !isParam(field)) };
  }
  const method = (second === undefined ? (hasBody ? null : 'GET') : first)?.toUpperCase() ?? null;
  const given = second ?? first;
  const url = tryOr(() => new URL(given.startsWith('/') ? given : `/${given}`, 'http://devmgr'), null);
  if (url === null) throw usage(`"${given}" is not a path`, hint);
  const found = (Object.keys(endpoints) as RouteName[]).flatMap(operation => {
    const params = paramsOf(endpoints[operation].path, url.pathname);
    return params === null ? [] : [{ operation, params, method: endpoints[operation].method as string }];
  });
  // A path without parameters comes before one with them: list is not a deviceId in /api/devices/list.
  found.sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length);
  const fits = (one: { readonly method: string }, wanted: string) => one.method === wanted;
  // Fields of a list are its filters: only a path without GET is called with POST.
  const exact = found.filter(({ params }) => Object.keys(params).length === Object.keys(found[0]!.params).length);
  const best =
    method === null
      ? (exact.find(one => fits(one, 'GET')) ?? exact.find(one => fits(one, 'POST')))
      : found.find(one => fits(one, method));
  if (best === undefined)
    throw usage(
      `no such operation: ${method ?? 'POST'} ${url.pathname}`,
      found.length > 0 ? `this path has ${found.map(one => one.method).join(', ')}` : hint,
    );
  const query: Record<string, unknown> = {};
  for (const name of url.searchParams.keys()) query[name] = single(url.searchParams.getAll(name));
  return { operation: best.operation, params: best.params, query, rest: fields };
}

function fieldOf(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  if (at <= 0) throw usage(`--field "${text}" is not NAME=VALUE`);
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  if (isSecretName(name))
    throw usage(`--field ${name}: other users of this machine can see arguments`, 'give the body with --body -');
  const quoted = /^'(.*)'$/s.exec(value);
  if (quoted) return [name, quoted[1]!];
  return [name, /^(true|false|null|-?\d{1,15})$/.test(value) ? JSON.parse(value) : value];
}

const single = (values: readonly unknown[]): unknown => (values.length === 1 ? values[0] : values);

/** A field that is given several times is a list. */
function grouped(fields: Fields): Record<string, unknown> {
  const names = new Set(fields.map(([name]) => name));
  return Object.fromEntries(
    [...names].map(name => [name, single(fields.filter(field => field[0] === name).map(([, value]) => value))]),
  );
}

async function bodyIn({ io }: Context, file: string): Promise<Readonly<Record<string, unknown>>> {
  let text = '';
  const refuse = (fault: Error) => {
    throw fault;
  };
  for await (const part of inputText({ file, stdin: io.stdin, encoding: null }, refuse)) {
    text += part;
    if (text.length > mostBody) throw usage(`the body in ${file} is too long`, 'at most 16 MiB');
  }
  const body = objectIn(text);
  if (!isObject(body)) throw usage(`${file === '-' ? 'standard input' : file} is not a JSON object`);
  return body;
}

/** Writes a document: JSON as the data of other operations, other text with line feeds alone and harmless on a terminal. */
async function writeFile({ io, out }: Context, server: Client, operation: RouteName, input: AnyInput): Promise<void> {
  const { headers, bytes } = await server.download({ operation, input });
  const type = headers['content-type'] ?? '';
  const isJson = /^application\/(json|.*\+json)\b/.test(type);
  if (!isJson && !/^(text\/|application\/(yaml|x-ndjson))/.test(type))
    throw usage(`${operation} returns a file that is not text`, 'devmgr --help --all has the command that stores it');
  if (!isJson && out.isSelective) throw usage(`${operation} returns text, not JSON`, 'omit --jq and --fields');
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of bytes) {
    rest += decoder.decode(part, { stream: true });
    if (isJson) continue;
    // The line feed that follows may be in the next part.
    const end = rest.endsWith('\r') ? rest.length - 1 : rest.length;
    await io.write(harmless(rest.slice(0, end).replaceAll('\r\n', '\n'), false));
    rest = rest.slice(end);
  }
  if (isJson) await out.document(JSON.parse(rest));
}
