import { folderStore, memoryStore } from "./support/layers.ts";
import { storeSuite } from "./support/suite.ts";

storeSuite("over a folder", folderStore);
storeSuite("in memory", memoryStore);
