import { Document, visit } from 'yaml';
import { isHarmless, safeYaml } from './text.ts';

/** A value as YAML that is harmless on a terminal and parses to the same value, also with YAML 1.1. Loaded only if it is asked for. */
export const toYaml = (value: unknown): string => writtenYaml(yamlDocument(value));

/** A value as a document, which can have comments. */
export const yamlDocument = (value: unknown): Document =>
  new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });

/** The text of a document. */
export function writtenYaml(document: Document): string {
  visit(document, {
    // Only text in double quotes can have escapes.
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && !isHarmless(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return safeYaml(document.toString({ lineWidth: 0 }));
}
