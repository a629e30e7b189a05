/** Name constraints of CAs (RFC 5280, 4.2.1.10). They hold whether or not the extension is critical. */
import { type Certificate, dnsNameOf, EXTENSION, GENERAL_NAME, isSelfIssued, same } from './certificate.ts';
import { childrenOf, type DerElement, expectTag, firstDer, readDer, TAG } from './der.ts';

/** Why the names of the certificates below `issuer`, leaf first, break its constraints, or null. Throws MalformedError. */
export function nameProblem(issuer: Certificate, path: readonly Certificate[]): string | null {
  const extension = issuer.extensions.get(EXTENSION.nameConstraints);
  if (!extension) return null;
  const lists = childrenOf(readDer(extension.value, TAG.sequence));
  const [permitted, excluded] = [basesOf(lists, LIST.permitted), basesOf(lists, LIST.excluded)];
  const names = path.filter((each, at) => at === 0 || !isSelfIssued(each)).flatMap(namesOf);
  const isBroken = names.some(name => {
    const ofKind = ({ tag }: DerElement) => tag === name.tag;
    const allowed = permitted.filter(ofKind);
    return (
      excluded.filter(ofKind).some(base => isWithin(name, base) !== false) ||
      (allowed.length > 0 && !allowed.some(base => isWithin(name, base)))
    );
  });
  return isBroken ? 'a name of the path breaks the name constraints of a CA' : null;
}

const LIST = { permitted: 0xa0, excluded: 0xa1 } as const;

/** The names with which the subtrees of the lists with this tag begin. */
const basesOf = (lists: readonly DerElement[], tag: number): DerElement[] =>
  lists
    .filter(list => list.tag === tag)
    .flatMap(childrenOf)
    .map(subtree => firstDer(expectTag(subtree, TAG.sequence).contents));

/** The alternative names and, unless it is empty, the subject. */
function namesOf({ altNames, subject }: Certificate): readonly DerElement[] {
  const isEmpty = readDer(subject).contents.length === 0;
  return isEmpty ? altNames : [...altNames, { tag: GENERAL_NAME.directory, contents: subject, whole: subject }];
}

/** Whether a name is in a subtree; null for kinds of names that are not judged here. */
function isWithin(name: DerElement, base: DerElement): boolean | null {
  if (name.tag === GENERAL_NAME.dns) {
    const [inner, outer] = [dnsNameOf(name), dnsNameOf(base)];
    return inner === outer || outer === '' || inner.endsWith(outer.startsWith('.') ? outer : `.${outer}`);
  }
  if (name.tag !== GENERAL_NAME.directory) return null;
  const parts = partsOf(name);
  return partsOf(base).every((part, at) => parts[at] !== undefined && same(part.whole, parts[at].whole));
}

const partsOf = ({ contents }: DerElement): DerElement[] => childrenOf(readDer(contents, TAG.sequence));
