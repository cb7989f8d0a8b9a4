{{/* Named templates that all charts of a cloud share. */}}

{{/* The reference of an image: NAME, and its values. */}}
{{- define "kolla.image" -}}
{{- $root := index . 0 }}{{ $name := index . 1 }}{{ $image := index . 2 }}
{{- $cloud := $root.Values.global.image }}
{{- $tag := coalesce $image.tag $cloud.tag (printf "%s-%s" $root.Values.global.release $root.Values.global.distro) }}
{{- $image.repository | default (printf "%s/%s" $cloud.registry $name) }}
{{- if ne $tag "-" }}:{{ $tag }}{{ end }}
{{- with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* A name that ends with a hash of contents: NAME, CONTENT... */}}
{{- define "kolla.version" -}}
{{ index . 1 }}-{{ slice . 2 | join "\n" | sha256sum | trunc 10 }}
{{- end }}

{{/* The same for contents with secret values. The hash has a random key, so that nobody can find a short password with it. */}}
{{- define "kolla.secretVersion" -}}
{{ index . 1 }}-{{ printf "%s%s" (include "kolla.key" (index . 0)) (slice . 2 | join "\n") | sha256sum | trunc 10 }}
{{- end }}

{{/* A name for the present values of a Secret, for pods that mount it: NAME. */}}
{{- define "kolla.revision" -}}
{{- include "kolla.load" . }}
{{- printf "%s%s" (include "kolla.key" (index . 0)) (index (index . 0).Release.kolla (index . 1) | toJson) | sha256sum | trunc 10 }}
{{- end }}

{{- define "kolla.key" -}}
{{ include "kolla.value" (list . "@CHECKSUM@" "key") }}
{{- end }}

{{/* Seconds until a Job or a rollout counts as failed. The time in which its pods wait comes on top: SECONDS. */}}
{{- define "kolla.deadline" -}}
{{- $wait := (index . 0).Values.global.wait }}
{{- $wait.enabled | ternary (add (index . 1) $wait.seconds) (index . 1) }}
{{- end }}

{{/* An INI file: SECTIONS. */}}
{{- define "kolla.ini" -}}
{{- $root := index . 0 }}{{ $sections := index . 1 }}{{ $blocks := list }}
{{- range $name := concat (list "DEFAULT") (without (keys $sections | sortAlpha) "DEFAULT") }}
{{- with include "kolla.properties" (list $root (get $sections $name | default dict)) }}
{{- $blocks = append $blocks (printf "[%s]\n%s" $name .) }}
{{- end }}
{{- end }}
{{- join "\n\n" $blocks }}
{{- end }}

{{/* A properties file, or a section: OPTIONS. */}}
{{- define "kolla.properties" -}}
{{- $root := index . 0 }}{{ $lines := list }}
{{- range $option, $value := index . 1 }}
{{- range $one := kindIs "slice" $value | ternary $value (list $value) }}
{{- if not (kindIs "invalid" $one) }}
{{- $text := kindIs "string" $one | ternary $one (toJson $one) }}
{{- if contains "{{" $text }}{{ $text = tpl $text $root }}{{ end }}
{{- $lines = append $lines (printf "%s = %s" $option $text) }}
{{- end }}
{{- end }}
{{- end }}
{{- join "\n" $lines }}
{{- end }}

{{/* The name of a Secret: NAME in the cloud. */}}
{{- define "kolla.secretName" -}}
{{ get ((index . 0).Values.global.secrets | default dict) (index . 1) | default (index . 1) }}
{{- end }}

{{/* "true" if this release makes a Secret itself: NAME. It fails if the Secret must exist and does not. */}}
{{- define "kolla.makes" -}}
{{- $root := index . 0 }}{{ $recipe := include (printf "kolla.recipe.%s" (index . 1)) $root | fromJson }}
{{- include "kolla.load" . }}
{{- if not (or $recipe.command (get ($root.Values.global.secrets | default dict) (index . 1))) }}true{{ end }}
{{- end }}

{{/* A value of a Secret, escaped for the places in which it stands: NAME, KEY, PLACE... */}}
{{- define "kolla.value" -}}
{{- include "kolla.load" . }}
{{- $value := get (get (index . 0).Release.kolla (index . 1)) (index . 2) }}
{{- range $place := slice . 3 }}{{ $value = include "kolla.escape" (list $place $value) }}{{ end }}
{{- $value }}
{{- end }}

{{/*
Loads the values of a Secret into .Release.kolla, which all charts of a release share: NAME. They come
from the cluster, or are generated if the chart of the Secret is a part of this release. Without a
cluster, as in helm template, they are generated too.
*/}}
{{- define "kolla.load" -}}
{{- $root := index . 0 }}{{ $name := index . 1 }}
{{- if not (hasKey $root.Release "kolla") }}{{ $_ := set $root.Release "kolla" dict }}{{ end }}
{{- if not (hasKey $root.Release.kolla $name) }}
{{- $recipe := include (printf "kolla.recipe.%s" $name) $root | fromJson }}
{{- $values := dict }}
{{- $at := include "kolla.secretName" . }}
{{- $live := lookup "v1" "Secret" ($recipe.namespace | default $root.Release.Namespace) $at }}
{{- range $key, $value := get $live "data" | default dict }}{{ $_ := set $values $key (b64dec $value) }}{{ end }}
{{- $missing := list }}
{{- range $key := keys $recipe.keys | sortAlpha }}{{ if not (hasKey $values $key) }}{{ $missing = append $missing $key }}{{ end }}{{ end }}
{{- $made := and (eq $at $name) (not $recipe.command) (or (not $recipe.owner) (get ($root.Values.global.services | default dict) $recipe.owner) (hasPrefix (print $recipe.owner "/") $root.Template.BasePath)) }}
{{- if and $missing (not $made) (lookup "v1" "Namespace" "" "kube-system") }}
{{- fail (printf "Secret %s has no key %s in namespace %s. %s" $at (join ", " $missing) ($recipe.namespace | default $root.Release.Namespace) ($recipe.command | default (printf "Install the chart of %s first, or name another Secret in global.secrets.%s." $recipe.owner $name))) }}
{{- end }}
{{- if and $missing $recipe.certificate }}
{{- $values = include "kolla.certificate" (list $root $recipe.certificate) | fromJson }}
{{- else }}
{{- range $key := $missing }}{{ $_ := set $values $key (include "kolla.generate" (list $root (get $recipe.keys $key))) }}{{ end }}
{{- end }}
{{- $_ := set $root.Release.kolla $name $values }}
{{- end }}
{{- end }}

{{/* A new value: its generator. */}}
{{- define "kolla.generate" -}}
{{- $how := index . 1 }}
{{- if $how.copy }}
{{- include "kolla.value" (prepend $how.copy (index . 0)) }}
{{- else if eq $how.kind "hex" }}
{{- $hex := "" }}{{ range until (int (div (add $how.length 31) 32)) }}{{ $hex = print $hex (randBytes 32 | sha256sum) }}{{ end }}
{{- trunc (int (mul 2 $how.length)) $hex }}
{{- else if eq $how.kind "base64" }}
{{- randBytes (int $how.length) | replace "+" "-" | replace "/" "_" }}
{{- else if eq $how.kind "fernet" }}
{{- randBytes 32 | replace "+" "-" | replace "/" "_" }}
{{- else if eq $how.kind "uuid" }}
{{- uuidv4 }}
{{- else if eq $how.kind "password" }}
{{- randAlphaNum (int $how.length) }}
{{- end }}
{{- end }}

{{/* A new certificate, with its key and its CA, as JSON. */}}
{{- define "kolla.certificate" -}}
{{- $root := index . 0 }}{{ $how := index . 1 }}{{ $pair := dict }}{{ $issuer := "" }}
{{- $key := eq $how.algorithm "rsa" | ternary "" (genPrivateKey $how.algorithm) }}
{{- if $how.issuer }}
{{- $issuer = include "kolla.value" (list $root $how.issuer "tls.crt") }}
{{- $ca := dict }}
{{- if $issuer }}{{ $ca = buildCustomCert (b64enc $issuer) (include "kolla.value" (list $root $how.issuer "tls.key") | b64enc) }}
{{- else }}{{ $ca = genCA "not known without a cluster" 1 }}{{ end }}
{{- if $key }}{{ $pair = genSignedCertWithKey $how.commonName $how.addresses $how.dnsNames (int $how.days) $ca $key }}
{{- else }}{{ $pair = genSignedCert $how.commonName $how.addresses $how.dnsNames (int $how.days) $ca }}{{ end }}
{{- else }}
{{- if $key }}{{ $pair = genCAWithKey $how.commonName (int $how.days) $key }}
{{- else }}{{ $pair = genCA $how.commonName (int $how.days) }}{{ end }}
{{- end }}
{{- dict "tls.crt" $pair.Cert "tls.key" $pair.Key "ca.crt" ($issuer | default $pair.Cert) | toJson }}
{{- end }}

{{/* A value at a place of a text, so that the reader of the text gets the same value: PLACE, VALUE. */}}
{{- define "kolla.escape" -}}
{{- $place := index . 0 }}{{ $value := index . 1 }}{{ $wrong := "" }}
{{- $control := "\\x00-\\x08\\x0a-\\x1f\\x7f-\\x{9f}\\x{2028}\\x{2029}" }}
{{- if eq $place "url" }}{{ $value | urlquery | replace "+" "%20" }}
{{- else if eq $place "json" }}{{ toJson $value | trimPrefix "\"" | trimSuffix "\"" }}
{{- else if eq $place "sql" }}{{ $wrong = print "[\\\\" $control "]" }}{{ $value | replace "'" "''" }}
{{- else }}{{ $value }}
{{- if eq $place "in-url" }}{{ $wrong = "[^A-Za-z0-9._~!$'()*+,;=:/%-]" }}
{{- else if eq $place "literal" }}{{ $wrong = "%" }}
{{- else if eq $place "ini" }}{{ $wrong = print "^\\s|\\s$|^['\"]|['\"]$|\\\\\\$|\\$[$\\{_\\pL]|[" $control "]" }}
{{- else if eq $place "line" }}{{ $wrong = print "[" $control "]" }}
{{- else if eq $place "quoted" }}{{ $wrong = print "['\"`\\\\$" $control "]" }}
{{- else if eq $place "bare" }}{{ $wrong = "[^A-Za-z0-9._+/=@%,-]" }}
{{- else if eq $place "env" }}{{ $wrong = "\\x00" }}
{{- else }}{{ fail (printf "a value cannot be put into %q" $place) }}
{{- end }}
{{- end }}
{{- if and $wrong (regexMatch $wrong $value) }}{{ fail (printf "A Secret has a value with characters that cannot stand in its place (%s). Letters and digits can." $place) }}{{ end }}
{{- end }}

{{/* "true" if no other release has an object of this name: APIVERSION, KIND, NAME. */}}
{{- define "kolla.mine" -}}
{{- $root := index . 0 }}
{{- $live := lookup (index . 1) (index . 2) $root.Release.Namespace (index . 3) }}
{{- $owner := dig "metadata" "annotations" "meta.helm.sh/release-name" $root.Release.Name $live }}
{{- if eq $owner $root.Release.Name }}true{{ end }}
{{- end }}

{{/* Fails in another namespace than that of the cloud. */}}
{{- define "kolla.check" -}}
{{- if ne .Release.Namespace "@NAMESPACE@" }}
{{- fail (printf "The addresses of services in this chart are those in the namespace @NAMESPACE@: install with --namespace @NAMESPACE@, not %s." .Release.Namespace) }}
{{- end }}
{{- end }}

{{/* The rights of pods that wait. */}}
{{- define "kolla.access" -}}
{{- include "kolla.check" . }}
{{- if and .Values.global.wait.enabled (include "kolla.mine" (list . "v1" "ServiceAccount" "kolla-wait")) }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: kolla-wait
  namespace: {{ .Release.Namespace }}
automountServiceAccountToken: false
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: kolla-wait
  namespace: {{ .Release.Namespace }}
rules:
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list]
- apiGroups: [apps]
  resources: [daemonsets, deployments, statefulsets]
  verbs: [get, list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: kolla-wait
  namespace: {{ .Release.Namespace }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: kolla-wait
subjects:
- kind: ServiceAccount
  name: kolla-wait
  namespace: {{ .Release.Namespace }}
---
{{- end }}
{{- end }}

{{/* The resources of a container in the pod of a job that waits: its own RESOURCES. */}}
{{- define "kolla.resources" -}}
{{- $wait := (index . 0).Values.global.wait }}{{ $resources := deepCopy (index . 1) }}
{{- if and $wait.enabled $wait.requests }}{{ $resources = mergeOverwrite $resources (dict "requests" (deepCopy $wait.requests)) }}{{ end }}
{{- toYaml $resources }}
{{- end }}

{{/* The init container of a pod that waits: IMAGE, user, NAMES. */}}
{{- define "kolla.wait" -}}
{{- $root := index . 0 }}
{{- if $root.Values.global.wait.enabled -}}
- name: kolla-wait
  image: {{ index . 1 }}
  imagePullPolicy: IfNotPresent
  command: [python3, -c, {{ include "kolla.wait.program" $root | toJson }}]
  args: {{ index . 3 | toJson }}
  env:
  - name: NAMESPACE
    value: {{ $root.Release.Namespace | quote }}
  - name: SECONDS
    value: {{ $root.Values.global.wait.seconds | toString | quote }}
  resources: {{ include "kolla.resources" (list $root (dict "requests" (dict "cpu" "5m" "memory" "24Mi") "limits" (dict "memory" "128Mi"))) | fromYaml | toJson }}
  securityContext: {{ merge (dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL"))) (index . 2 | fromJson) | toJson }}
  terminationMessagePolicy: FallbackToLogsOnError
  volumeMounts:
  - name: kolla-wait
    mountPath: /run/kolla-wait
    readOnly: true
{{- end }}
{{- end }}

{{- define "kolla.wait.volume" -}}
{{- if .Values.global.wait.enabled -}}
- name: kolla-wait
  projected:
    sources:
    - serviceAccountToken: {path: token, expirationSeconds: 3600}
    - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
{{- end }}
{{- end }}

{{- define "kolla.wait.program" -}}
@PROGRAM@
{{- end }}
