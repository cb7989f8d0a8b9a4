apiVersion: v1
kind: ConfigMap
metadata:
  name: some
  labels: {}

# a comment
data:
  text: |
    some text that follows
  other: "x"
list:
- 1
- name: x
cloud "y" {
  release = "2025.1"
}
kind: Secret
