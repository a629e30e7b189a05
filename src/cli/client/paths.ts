/** Paths of operations: their parameters and query as one text, and back. */
import { tryOr } from '../fault.ts';

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

/** The parameters in a path; null if the path is not one of the template. */
export function paramsOf(template: string, path: string): Record<string, string> | null {
  const [wanted, given] = [template.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const text = tryOr(() => decodeURIComponent(given[at]!), null);
    if (text === null) return null;
    if (part.startsWith('{') && text !== '') params[part.slice(1, -1)] = text;
    else if (part !== text) return null;
  }
  return params;
}
