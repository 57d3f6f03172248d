/** Projects that are not deleted. */
import type { ProjectView } from "@tributary/contracts";
import { optText, stringOf, type Row } from "../cells.ts";
import type { Reader } from "./reader.ts";

const columns = "project_id, root, title, created_at, updated_at";

const projectView = (row: Row): ProjectView => ({
  projectId: stringOf(row, "project_id"),
  root: stringOf(row, "root"),
  title: optText(row, "title") ?? "",
  createdAt: stringOf(row, "created_at"),
  updatedAt: stringOf(row, "updated_at"),
});

/** In the order of creation. */
export const projects = (reader: Reader): ReadonlyArray<ProjectView> =>
  reader.all(`SELECT ${columns} FROM {projects} WHERE deleted = 0 ORDER BY position`).map(projectView);

export const project = (reader: Reader, projectId: string): ProjectView | undefined => {
  const row = reader.get(`SELECT ${columns} FROM {projects} WHERE project_id = ? AND deleted = 0`, projectId);
  return row === undefined ? undefined : projectView(row);
};
