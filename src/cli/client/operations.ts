/** What the command line needs to know of the operations beside their endpoints. */
import { endpoints, type RouteName } from '../../contract/endpoints.ts';

/** Fields that the `data` of an operation has at least: see `returns`. */
export const fieldsOf = (name: RouteName): readonly string[] => endpoints[name].returns;

/** Whether an operation is called with a token. */
export const needsToken = (name: RouteName): boolean => !('access' in endpoints[name]);

/** Whether an operation without a file is sent with an Idempotency-Key. */
export const takesKey = (name: RouteName): boolean =>
  endpoints[name].method !== 'GET' && !('neverReplayed' in endpoints[name]);

const repeated: ReadonlySet<string> = new Set(['tag', 'userName']);

/** Path and query of a request. Path parameters are escaped, so that no value can reach another operation. */
export function pathOf(
  template: string,
  params: Readonly<Record<string, unknown>> = {},
  query: Readonly<Record<string, unknown>> = {},
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? '')));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    // Their texts may contain commas: each is a parameter of its own. Other lists are one parameter.
    if (repeated.has(name) && Array.isArray(value)) for (const text of value) search.append(name, String(text));
    else search.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}
