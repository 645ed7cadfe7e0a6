/* SPDX-License-Identifier: MIT */
#include "cli/audit_what.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem/mem.h"

#define OF(what) "{\"meta\":{\"namespace\":\"gse\",\"name\":\"p\"}," what "}"

/* clang-format off */
static const struct {
    const char *route, *json, *said;
} cases[] = {
    { "operate_proc_v2", OF("\"op_type\":0,\"agent_id_list\":[\"a1\"]"), "start gse/p; 1 host: a1" },
    { "operate_proc_v2", OF("\"op_type\":1,\"hosts\":[{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0},{\"bk_cloud_id\":3,\"ip\":\"10.0.0.2\"}]"),
      "stop gse/p; 2 hosts: 10.0.0.1, 3:10.0.0.2" },
    { "operate_proc_v2", OF("\"op_type\":7,\"hosts\":{\"n\":5000,\"first\":[{\"ip\":\"10.0.0.1\"}]}"), "restart gse/p; 5000 hosts: 10.0.0.1 ..." },
    { "operate_proc_v2", OF("\"op_type\":77"), "77 gse/p" },
    { "operate_proc_v2", OF(" \"op_type\" : 7, \"hosts\" : { \"n\" : 50, \"first\" : [ \"a\" ] } "), "restart gse/p; 50 hosts: a ..." },
    { "operate_proc_v2", OF("\"hosts\":{\"n\":\"50\"}"), OF("\"hosts\":{\"n\":\"50\"}") },
    { "operate_proc_multi", "{\"proc_operate_req\":[" OF("\"op_type\":9,\"agent_id_list\":[\"a\"]") "," OF("\"op_type\":0") "]}",
      "kill gse/p; 1 host: a; and 1 more" },
    { "operate_proc_multi", "{\"proc_operate_req\":{\"n\":9,\"first\":[" OF("\"op_type\":0") "," OF("\"op_type\":0") "]}}",
      "start gse/p; and 8 more" },
    { "manage_proc", "{\"bk_biz_id\":2,\"op_type\":1,\"process_infos\":[{\"proc_name\":\"web\",\"ip_list\":[{\"ip\":\"1.1.1.1\"}]}]}",
      "host web; 1 host: 1.1.1.1; bk_biz_id=2" },
    { "operate_process", "{\"op_type\":1}", "stop" },
    { "/v1/operations", "{\"operation\":\"unhost\",\"namespace\":\"gse\",\"name\":\"p\",\"hosts\":[\"a\"],\"dry_run\":true}",
      "unhost gse/p; 1 host: a; dry_run=yes" },
    { "/v1/apps", "{\"code\":\"kit\",\"permissions\":{\"rights\":[\"read\",\"admin\"],\"namespaces\":{\"n\":4,\"first\":[\"a\",\"b\"]}}}",
      "code=kit rights=read,admin namespaces=a,b (4)" },
    { "/v1/businesses", "{\"id\":9,\"name\":\"shop\"}", "shop; id=9" },
    { "/v1/apps/*", "{\"id\":\"kit\"}", "id=kit" },
    { "/v1/apps", "{\"operation\":\"rotate\",\"code\":\"kit\"}", "rotate; code=kit" },
    { "/v1/x", "{}", "" },
    { "/v1/x", "", "" },
    { "/v1/x", NULL, "" },
    { "/v1/x", "{\"a\":", "{\"a\":" }, /* text that is not JSON is shown unchanged */
    { "/v1/x", "{\"hosts\":[{\"ip\":[]}]}", "{\"hosts\":[{\"ip\":[]}]}" },
};
/* clang-format on */

static void it_is_told_in_a_line(void **state)
{
    struct buf got = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_truncate(&got, 0);
        audit_what_put(&got, cases[i].route, cases[i].json, LANG_EN);
        assert_string_equal(buf_text(&got), cases[i].said);
    }
    buf_truncate(&got, 0);
    audit_what_put(&got, cases[1].route, cases[1].json, LANG_ZH);
    assert_string_equal(buf_text(&got), "停止 gse/p; 2 台主机：10.0.0.1, 3:10.0.0.2");
    buf_truncate(&got, 0);
    audit_what_put(&got, "/v1/apps", "{\"operation\":\"rotate\",\"code\":\"kit\"}", LANG_ZH);
    assert_string_equal(buf_text(&got), "更换密钥; code=kit");
    buf_free(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_told_in_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
