#!/bin/sh
# Talks to GitHub, GitLab, or Gitea and Forgejo:
#
#   forge.sh comment FILE  writes FILE as a comment of the pull request. A comment of the same
#                          bot with the same first line is replaced, so that there is only one
#   forge.sh put FILE      keeps a plan for the content of this directory
#   forge.sh get FILE      fetches the plan that was kept for the content of this directory
#
#   FORGE        github, gitlab or gitea
#   FORGE_API    URL of its API
#   FORGE_REPO   OWNER/NAME of the repository; on GitLab the number of the project
#   FORGE_PULL   number of the pull request
#   FORGE_TOKEN  a token that may write comments and, except on GitHub, packages
#   FORGE_BOT    login of the token's user; default: the API says it
#
# The content is known by the hash of git's tree. So a plan belongs to what was reviewed, and
# if a merge results in something else, there is no plan for it.
#
# On GitHub, actions/upload-artifact keeps the plan: put only tells it the name.
set -eu

fail() {
  echo "$*" >&2
  exit 1
}

umask 077
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
case $FORGE in
github | gitlab) echo "Authorization: Bearer $FORGE_TOKEN" ;;
gitea) echo "Authorization: token $FORGE_TOKEN" ;;
*) fail "FORGE is \"$FORGE\". It can be github, gitlab or gitea." ;;
esac >"$temporary/token"

# call sends a request. The token is in a file, because everybody can read a command line.
call() {
  curl --silent --show-error --fail --location --header @"$temporary/token" "$@"
}

name() {
  # shellcheck source=SCRIPTDIR/git.sh
  . "$(dirname "$0")/git.sh"
  tree=$(git -C "$clone" rev-parse --verify --quiet "HEAD:$prefix") || fail "This directory has no commit of git."
  echo "kolla-plan-$tree"
}

comment() {
  marker=$(head -n 1 "$1")
  case $marker in
  '<!-- kolla '*' -->') ;;
  *) fail "$1 does not begin with the marker of kolla plan -report=plan.md." ;;
  esac
  case $FORGE in
  gitlab)
    list=$FORGE_API/projects/$FORGE_REPO/merge_requests/$FORGE_PULL/notes
    one=$list method=PUT author=.author.username
    ;;
  *)
    list=$FORGE_API/repos/$FORGE_REPO/issues/$FORGE_PULL/comments
    one=$FORGE_API/repos/$FORGE_REPO/issues/comments method=PATCH author=.user.login
    ;;
  esac
  # Anybody can write a comment with the marker, and change it later. Only the bot's own counts.
  bot=${FORGE_BOT:-$(call "$FORGE_API/user" | jq -r '.username // .login')}

  id='' next="$list?per_page=100"
  while [ -z "$id" ] && [ -n "$next" ]; do
    call --dump-header "$temporary/head" --output "$temporary/page" "$next"
    id=$(jq -r --arg marker "$marker" --arg bot "$bot" \
      "map(select($author == \$bot and (.body | split(\"\\n\")[0] | rtrimstr(\"\\r\")) == \$marker))[0].id // empty" \
      "$temporary/page")
    next=$(sed -n 's/^[Ll]ink:.*<\([^>]*\)>; *rel="next".*/\1/p' "$temporary/head")
  done

  jq -n --rawfile body "$1" '{body: $body}' >"$temporary/body"
  if [ -n "$id" ]; then
    set -- --request "$method" "$one/$id"
  else
    set -- --request POST "$list"
  fi
  call --output /dev/null --header 'Content-Type: application/json' --data-binary @"$temporary/body" "$@"
}

# package is the URL of the plan in the package registry.
package() {
  case $FORGE in
  gitlab) echo "$FORGE_API/projects/$FORGE_REPO/packages/generic/kolla-plan/$1/kolla.plan" ;;
  gitea) echo "${FORGE_API%/v1}/packages/${FORGE_REPO%%/*}/generic/kolla-plan/$1/kolla.plan" ;;
  esac
}

put() {
  plan=$(name)
  case $FORGE in
  github)
    echo "artifact=$plan" >>"${GITHUB_OUTPUT:-/dev/stdout}"
    return
    ;;
  gitea) call --output /dev/null --request DELETE "$(package "$plan")" 2>/dev/null || true ;; # it is never replaced
  esac
  call --output /dev/null --upload-file "$1" "$(package "$plan")"
}

get() {
  plan=$(name)
  found=$(package "$plan")
  if [ "$FORGE" = github ]; then
    # A fork can keep artifacts of any name.
    found=$(call "$FORGE_API/repos/$FORGE_REPO/actions/artifacts?per_page=100&name=$plan" | jq -r '
      .artifacts | map(select(.expired | not) | select(.workflow_run | .repository_id == .head_repository_id))
      | sort_by(.created_at)[-1].archive_download_url // empty')
  fi
  if [ -z "$found" ] || ! call --output "$temporary/plan" "$found"; then
    fail "No plan was kept for this content ($plan). Perhaps the main branch changed after the
plan was made, or the change came from a fork. Plan the main branch, read the plan, and run
this job again."
  fi
  if [ "$FORGE" = github ]; then
    unzip -p "$temporary/plan" kolla.plan >"$1"
  else
    cp "$temporary/plan" "$1"
  fi
}

case ${1:-} in
comment | put | get) "$@" ;;
*) fail "Write forge.sh comment FILE, forge.sh put FILE, or forge.sh get FILE." ;;
esac
