// Builds main.js. The same sources, lock file and Node give the same bytes, wherever they lie.
import { build } from 'esbuild';
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const here = path.dirname(fileURLToPath(import.meta.url));
const outfile = process.argv[2] ?? path.join(here, 'main.js');

await build({
  absWorkingDir: here,
  entryPoints: ['src/main.ts'],
  bundle: true,
  external: ['obsidian', 'electron', '@codemirror/*', '@lezer/*', ...builtinModules],
  format: 'cjs',
  platform: 'browser',
  target: 'es2022',
  // A native import() of a Node module is not there in the app's window.
  supported: { 'dynamic-import': false },
  charset: 'utf8',
  legalComments: 'none',
  sourcemap: false,
  treeShaking: true,
  banner: { js: '/* Built from plugin-bridge/obsidian/src of vaultrag; see README.md there. */' },
  logLevel: 'warning',
  outfile,
});
