/** The page docs/reference/scim.md: operations, attributes and errors of SCIM. */
import { pageBounds, schemas } from '../../daemon/scim/schemas.ts';

/** What each request does, and the status of its response. `tests/docs/scim-page.test.ts` sends all of them. */
export const operations = [
  ['GET', '/ServiceProviderConfig', 'shows what is supported', 200],
  ['GET', '/ResourceTypes', 'lists the kinds of resources; with a filter: 403', 200],
  ['GET', '/ResourceTypes/User', 'shows one kind', 200],
  ['GET', '/Schemas', 'lists the schemas; with a filter: 403', 200],
  ['GET', '/Schemas/{id}', 'shows a schema', 200],
  ['POST', '/Users', 'adds a person, or restores one who was removed', 201],
  ['GET', '/Users', 'lists persons: `filter`, `startIndex`, `count`, `attributes`, `excludedAttributes`', 200],
  ['POST', '/Users/.search', 'lists persons, with these parameters in the body', 200],
  ['GET', '/Users/{id}', 'shows a person', 200],
  ['PUT', '/Users/{id}', 'replaces the attributes of a person; without `active` the state is kept', 200],
  ['PATCH', '/Users/{id}', 'changes attributes of a person', 200],
  ['DELETE', '/Users/{id}', 'the person leaves, and SCIM no longer shows the person', 204],
  ['POST', '/Groups', 'adds a group', 201],
  ['GET', '/Groups', 'lists groups, as persons are listed', 200],
  ['POST', '/Groups/.search', 'lists groups, with these parameters in the body', 200],
  ['GET', '/Groups/{id}', 'shows a group', 200],
  ['PUT', '/Groups/{id}', 'replaces name and members of a group', 200],
  ['PATCH', '/Groups/{id}', 'changes name or members of a group', 200],
  ['DELETE', '/Groups/{id}', 'removes a group; its persons stay', 204],
  ['GET', '/Me', 'a token is not a person', 501],
  ['POST', '/.search', 'a search has one kind of resources', 501],
] as const;

const errors = [
  [400, 'invalidSyntax', 'the body is not a JSON object, or has no `Operations`'],
  [400, 'invalidFilter', 'the filter cannot be read, or is longer than it may be'],
  [400, 'invalidPath', 'the path of an operation cannot be read'],
  [400, 'invalidValue', 'a value cannot be stored; `detail` names it'],
  [400, 'noTarget', '`remove` has no path'],
  [400, 'mutability', '`id`, `groups` and `meta` cannot be changed'],
  [400, 'tooMany', 'too many operations, values or names of attributes'],
  [401, '', 'the token is missing, invalid or expired'],
  [403, '', 'the token may not use SCIM, or a list that describes the service has a filter'],
  [404, '', 'no such resource'],
  [405, '', 'the resource does not have this operation'],
  [409, 'uniqueness', 'another person or group has the `userName`, `externalId` or `displayName`'],
  [412, '', 'the resource has another version than `If-Match` names'],
  [429, '', 'more than 100 requests of the token wait: repeat it after `Retry-After`'],
  [501, '', 'not supported: see above'],
] as const;

interface Attribute {
  readonly name: string;
  readonly description: string;
  readonly type: string;
  readonly multiValued: boolean;
  readonly required: boolean;
  readonly mutability: string;
  readonly uniqueness: string;
  readonly subAttributes?: readonly Attribute[];
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
const row = (...cells: readonly (string | number)[]): string =>
  `| ${cells.map(one => cell(String(one))).join(' | ')} |`;

function attributeRows(attributes: readonly Attribute[], before = ''): string[] {
  return attributes.flatMap(one => {
    const traits = [one.required && 'required', one.uniqueness === 'server' && 'unique', one.mutability];
    const kind = `${one.type}${one.multiValued ? '[]' : ''}`;
    const shown = row(`\`${before}${one.name}\``, kind, traits.filter(Boolean).join(', '), one.description);
    return [shown, ...attributeRows(one.subAttributes ?? [], `${before}${one.name}.`)];
  });
}

/** The text of the page. */
export function scimPage(note: string): string {
  const parts = [
    note,
    '# SCIM 2.0\n',
    `All paths begin with \`/scim/v2\`, and each request has a service token that may use SCIM: [how to set it up](../scim.md). Bodies are \`application/scim+json\` or \`application/json\`. A list has at most ${pageBounds.max} resources, and ${pageBounds.default} without \`count\`.\n`,
    '## Operations\n',
    row('method', 'path', 'what it does', 'status'),
    '|---|---|---|---|',
    ...operations.map(([method, path, text, status]) => row(method, `\`${path}\``, text, status)),
    '\n`attributes` and `excludedAttributes` name attributes or parts of them (`name.givenName`). A resource has an `ETag`; `If-Match` and `If-None-Match` are honored.\n',
  ];
  for (const { id, name, attributes } of schemas('')) {
    parts.push(`## ${name}\n`, `\`${id}\`\n`, row('attribute', 'type', '', ''), '|---|---|---|---|');
    parts.push(...attributeRows(attributes as readonly Attribute[]), '');
  }
  parts.push('## Errors\n', row('status', 'scimType', 'when'), '|---|---|---|', ...errors.map(one => row(...one)));
  return `${parts.join('\n').trimEnd()}\n`;
}
