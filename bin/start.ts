#!/usr/bin/env node
/** Starts the built program with compiled code of earlier runs: the first line of `devmgr.cjs`, before any other part is read. */
import { useCompiledCode } from '../src/cli/framework/compiled-code.ts';

useCompiledCode(process.env);
void import('./devmgr.ts');
