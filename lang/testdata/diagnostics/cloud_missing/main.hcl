locals {
  where = cloud.namespace
}
