// What the type checker has to know beside explore/types.d.ts (`make js`).

declare var studioFiles: Record<string, any> | undefined; // data that the studio's files brought, by name
declare const WORKER_SCRIPT: string; // worker.js as text, put in by files.py
declare const ort: any; // onnxruntime-web, in the worker
